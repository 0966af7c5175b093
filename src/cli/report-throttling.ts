import type { OnThrottled } from '../providers/provider.ts'
import type { Console } from './console.ts'

/** Says that a server asks for a wait, so that nobody takes the program for hanging. */
export const reportThrottling =
  (console: Pick<Console, 'note'>): OnThrottled =>
  (provider, milliseconds) =>
    console.note(`${provider} asks to wait for ${Math.ceil(milliseconds / 1000)} s.`)
