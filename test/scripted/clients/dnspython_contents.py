"""
Prints contents of records as dnspython writes them, with which deSEC reads and checks contents: `dnspython_contents.py CONTENTS`. CONTENTS is a JSON list of
[type, content]. Each content is read, put into wire form, and read and written again.
"""
import json
import sys

import dns.rdata
import dns.rdatatype

WITHOUT_CHUNKS = ("OPENPGPKEY", "EUI48", "EUI64")


def canonical(type_name, content):
    type_code = dns.rdatatype.from_text(type_name)
    wire = dns.rdata.from_text("IN", type_code, content, relativize=False).to_wire()
    data = dns.rdata.from_wire("IN", type_code, wire, 0, len(wire))
    return data.to_text() if type_name in WITHOUT_CHUNKS else data.to_text(chunksize=0)


print(json.dumps([canonical(*one) for one in json.loads(sys.argv[1])]))
