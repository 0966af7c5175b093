/** Milliseconds by which clocks of several processes may differ. */
const SLACK = 60_000

/** A moment as the interface writes it in milliseconds since 1970. */
export const momentOf = (text: string): number => Date.parse(`${text}Z`)

/**
 * Whether an end that was set so many milliseconds ahead is still to come. One that is further away is of a clock that was set back
 * since: it would be no limit at all, or one that outlasts everybody.
 */
export const isToCome = (end: number, length: number, now: number): boolean => end > now && end <= now + length + SLACK
