import { type FileHandle, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { NO_WARNING, privateFolder, tightenFile, type WarnAboutMode } from '../store/private-files.ts'

/**
 * The data of images in a folder, a file for each: `NUMBER-RECEIVER.img.gz`, and `NUMBER-RECEIVER.part` while it arrives. The receiver is a name
 * that is given once to whoever receives the data of an image, so that no two ever write one file.
 */
export interface ImageFiles {
  /** A new file for data that is to arrive. */
  create(image: number, receiver: string): Promise<FileHandle>
  /** The data is whole: resolves when the disk has it under the name that it keeps; with false where another process has removed it. */
  commit(image: number, receiver: string): Promise<boolean>
  /** Octets of data that was kept; null if it is not in this folder. */
  size(image: number, receiver: string): Promise<number | null>
  /** Removes data that did not come to its end; nothing where it was kept. */
  discard(image: number, receiver: string): Promise<void>
  remove(file: ImageFile): Promise<void>
  /** Octets that may still be written where the folder is. */
  freeSpace(): Promise<number>
  list(): Promise<readonly ImageFile[]>
}

export interface ImageFile {
  readonly name: string
  readonly image: number
  readonly receiver: string
}

/** The files of a folder, which is made first where there is none. Files and folder are closed to other users. */
export async function openImageFiles(directory: string, warn: WarnAboutMode = NO_WARNING): Promise<ImageFiles> {
  privateFolder(directory, warn)
  for (const { name } of (await readdir(directory)).sort().flatMap(fileOf)) tightenFile(join(directory, name), warn)
  const fileOfImage = (image: number, receiver: string): string => join(directory, `${image}-${receiver}.img.gz`)
  const partOf = (image: number, receiver: string): string => join(directory, `${image}-${receiver}.part`)
  return {
    create: (image, receiver) => open(partOf(image, receiver), 'wx', 0o600),
    commit: async (image, receiver) => {
      try {
        await rename(partOf(image, receiver), fileOfImage(image, receiver))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
        throw error
      }
      const folder = await open(directory, 'r')
      await folder.sync().finally(() => folder.close())
      return true
    },
    size: async (image, receiver) => {
      try {
        return (await stat(fileOfImage(image, receiver))).size
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
        throw error
      }
    },
    discard: (image, receiver) => rm(partOf(image, receiver), { force: true }),
    freeSpace: async () => {
      const { bavail, bsize } = await statfs(directory)
      return bavail * bsize
    },
    remove: ({ name }) => rm(join(directory, name), { force: true }),
    list: async () => (await readdir(directory)).flatMap(fileOf),
  }
}

/** Files of other names are not the service's, and left alone. */
function fileOf(name: string): ImageFile[] {
  const [, image, receiver] = /^([1-9][0-9]{0,14})-([0-9a-f]{16})\.(?:img\.gz|part)$/.exec(name) ?? []
  return image === undefined || receiver === undefined ? [] : [{ name, image: Number(image), receiver }]
}
