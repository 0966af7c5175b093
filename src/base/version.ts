/** Name and version of the program. */
declare const __VERSION__: string | undefined

/** The version of the package; `0.0.0-source` if the source runs without a build. */
export const VERSION: string = typeof __VERSION__ === 'string' ? __VERSION__ : '0.0.0-source'

/** Program and version, for plans and journals. */
export const TOOL = `zonewright ${VERSION}`
