# One command sets up and runs: make demo. One sets up and passes the tests: make test.
