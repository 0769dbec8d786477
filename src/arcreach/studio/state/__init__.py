"""The state of the page, without the page: requests, answers, robots, scenes, files, history."""
