/**
 * Reasons of ours why a file cannot be written, beside those of the system: no folder can be created there (`ENOFOLDER`), it is not a regular file
 * (`ENOTFILE`), a symbolic link is dangling (`EDANGLING`), points outside the folder (`EOUTSIDE`) or at another of the files (`ESAMEFILE`), the file has
 * changed since it was read (`ECHANGED`).
 */
export type FileErrorCode = 'ENOTDIR' | 'EISDIR' | 'EEXIST' | 'ENOFOLDER' | 'ENOTFILE' | 'EDANGLING' | 'EOUTSIDE' | 'ESAMEFILE' | 'ECHANGED'

/** An error with a code, like those of the system. */
export const fileError = (code: FileErrorCode, cause?: unknown): NodeJS.ErrnoException =>
  Object.assign(new Error(code, { cause }), { code })

/** Whether `link` failed because the file system has no hard links. */
export const lacksHardLinks = (error: unknown): boolean =>
  ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes((error as NodeJS.ErrnoException).code ?? '')
