/** A message to a telephone. */
export interface SmsMessage {
  /** The number in E.164. */
  readonly to: string
  readonly text: string
}
