const MOST = 5

/** Some names for a message; of more their number. */
export const listed = (names: readonly string[]): string =>
  names.length <= MOST ? names.join(', ') : `${names.slice(0, MOST).join(', ')} and ${names.length - MOST} more`
