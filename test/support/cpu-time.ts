/**
 * What a piece of work returns, and the milliseconds of processor time that took, those of the collector of garbage included. Unlike the time
 * on the clock it does not grow with what else the machine is doing.
 */
export function withCpuTime<T>(work: () => T): { readonly value: T; readonly milliseconds: number } {
  const before = process.cpuUsage()
  const value = work()
  const { user, system } = process.cpuUsage(before)
  return { value, milliseconds: (user + system) / 1000 }
}
