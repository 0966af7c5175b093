"""Directs the connections of a client to the scripted server: every host it knows has the server's address, and no other host exists."""
import os
import socket
from urllib.parse import urlsplit

SERVER = urlsplit(os.environ["SERVER"])
HOSTS = os.environ["HOSTS"].split(",")
find_address = socket.getaddrinfo


def redirected(host, port, *args, **options):
    if host not in HOSTS:
        raise socket.gaierror(f"{host} is no part of this test")
    return find_address(SERVER.hostname, SERVER.port, *args, **options)


socket.getaddrinfo = redirected
