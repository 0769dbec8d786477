"""What the page asks for and shows, without the page: requests, answers, robots, scenes, files, history."""
