"""What swebench 5 has of grading, for one parser. The real package is not installed with the tests."""
