"""Actuators along sections: pulls for a configuration, and the configuration for pulls."""
