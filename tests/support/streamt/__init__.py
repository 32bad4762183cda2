"""Tests of finite commands as runs: the stand-in for streamt, and what the tests share."""
