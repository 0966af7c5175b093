/** The step nearest to `seconds`; a tie goes down. Beyond the ends, the end. `steps` ascends and is not empty. */
export function nearestStep(seconds: number, steps: readonly number[]): number {
  const above = stepAtLeast(seconds, steps)
  const index = steps.indexOf(above)
  const below = steps[index - 1]
  if (below === undefined || above === seconds) return above
  if (seconds > above) return above
  return seconds - below <= above - seconds ? below : above
}

/** The first step that is not less than `seconds`; the last one where all are. */
export const stepAtLeast = (seconds: number, steps: readonly number[]): number =>
  steps.find((step) => step >= seconds) ?? (steps[steps.length - 1] as number)
