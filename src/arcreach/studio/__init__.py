"""The page in the browser: drag a target and watch the robot follow. Needs the extra `studio`."""
