/** Why a run was stopped, in words that fit behind "skipped:". Who stops a run may give a text as the reason. */
export const stopReason = ({ reason }: AbortSignal): string => (typeof reason === 'string' ? reason : 'the run was interrupted')
