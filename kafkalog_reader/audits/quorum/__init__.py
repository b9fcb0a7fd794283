"""The controllers' quorum: its voters, their logs, who can be elected, and what is lost."""
