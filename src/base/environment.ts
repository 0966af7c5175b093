/** The environment of the process. */

export type Environment = Readonly<Record<string, string | undefined>>

/** Whether the process runs in a CI job. Its checkout may contain files of a pull request that nobody has reviewed. */
export const isCi = ({ CI: ci = '' }: Environment): boolean => !['', '0', 'false'].includes(ci.toLowerCase())
