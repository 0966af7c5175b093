/** The styles of a report. Reports do not read the environment: the caller decides whether to use colours. */
export interface Palette {
  readonly bold: Paint
  readonly dim: Paint
  readonly added: Paint
  readonly removed: Paint
  readonly changed: Paint
  readonly error: Paint
  readonly warning: Paint
  readonly notice: Paint
}

export type Paint = (text: string) => string

const plain: Paint = (text) => text

/** Wraps text in SGR parameters (ECMA-48 section 8.3.117). The text must have passed `oneLine`, so it contains no escape sequences. */
const sgr =
  (on: string, off: string): Paint =>
  (text) =>
    text === '' ? '' : `\u001b[${on}m${text}\u001b[${off}m`

const PLAIN: Palette = {
  bold: plain,
  dim: plain,
  added: plain,
  removed: plain,
  changed: plain,
  error: plain,
  warning: plain,
  notice: plain,
}

/** Colours that are legible on light and dark backgrounds with the usual schemes: yellow and cyan are too bright for a light one, blue is too dark for a dark one. */
const COLOURED: Palette = {
  bold: sgr('1', '22'),
  dim: sgr('2', '22'),
  added: sgr('32', '39'),
  removed: sgr('31', '39'),
  changed: sgr('35', '39'),
  error: sgr('1;31', '22;39'),
  warning: sgr('1;35', '22;39'),
  notice: sgr('1', '22'),
}

export const paletteOf = (color: boolean): Palette => (color ? COLOURED : PLAIN)
