/** The environment of the process. */

export type Environment = Readonly<Record<string, string | undefined>>

/** Whether the process is part of a CI job, where the checkout may hold what a pull request wrote. */
export const isCi = ({ CI: ci = '' }: Environment): boolean => !['', '0', 'false'].includes(ci.toLowerCase())
