const NEW_OR_RARE = [...'AMTRELAY BRID CLA DOA DSYNC GID HHIT IPN NINFO RESINFO RKEY TA UID UINFO WALLET'.split(' ')]

/** Types for which BIND 9.18, NSD 4.6, ldns 1.8 or Knot 3.2 has no presentation format: printed in the generic form. */
export const UNKNOWN_TO_BIND = ['CLA', 'GID', 'IPN', 'UID', 'UINFO']
export const UNKNOWN_TO_NSD = [...NEW_OR_RARE, 'EID', 'GPOS', 'HIP', 'NIMLOC', 'NSAP-PTR', 'SPF', 'TALINK']
export const UNKNOWN_TO_LDNS = [...NEW_OR_RARE, 'AVC']
export const UNKNOWN_TO_KNOT = [...UNKNOWN_TO_NSD, ...['AVC', 'DLV', 'ISDN', 'MB', 'MD', 'MF', 'MG', 'MR', 'NSAP', 'PX', 'SIG', 'X25']]

/** Obsolete, and refused even in the generic form. */
export const REFUSED_BY_BIND = ['MD', 'MF']
