"""Search for collision-free paths: pieces of a body, checks of motions, trees and short-cuts."""
