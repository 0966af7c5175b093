/** A run's name: when it began, to the second, and four hexadecimal digits, so that names sort by time and two runs of one second differ. */

/** `20261121T063000Z-4f2a`; `random` is a number from 0 up to 1. */
export function runId(began: Date, random: () => number): string {
  const time = began.toISOString().replace(/[-:]|\.[0-9]+/g, '')
  const suffix = Math.floor(random() * 0x10000)
    .toString(16)
    .padStart(4, '0')
  return `${time}-${suffix}`
}

export const isRunId = (text: string): boolean => /^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{4}$/.test(text)

/** Whether a text may be the beginning of a run's name, or the name. */
export const isRunPrefix = (text: string): boolean => /^[0-9][0-9a-fTZ-]{0,20}$/i.test(text)
