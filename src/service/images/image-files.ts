/** The files with the data of images. */
import { type FileHandle, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { NO_WARNING, privateFolder, tightenFile, type WarnAboutMode } from '../store/private-files.ts'

/**
 * The data of images in a folder, one file per image: `NUMBER-RECEIVER.img.gz`, or `NUMBER-RECEIVER.part` while it arrives. The receiver is a
 * unique name of one upload, so that no two uploads write the same file.
 */
export interface ImageFiles {
  /** Creates the file for arriving data. */
  create(image: number, receiver: string): Promise<FileHandle>
  /** Gives complete data its final name and resolves when it is on disk; with false if another process has removed it. */
  commit(image: number, receiver: string): Promise<boolean>
  /** The size of complete data in octets; null if it is not in this folder. */
  size(image: number, receiver: string): Promise<number | null>
  /** Removes incomplete data; does nothing if the data is complete. */
  discard(image: number, receiver: string): Promise<void>
  remove(file: ImageFile): Promise<void>
  /** The free space of the folder's file system, in octets. */
  freeSpace(): Promise<number>
  list(): Promise<readonly ImageFile[]>
}

export interface ImageFile {
  readonly name: string
  readonly image: number
  readonly receiver: string
}

/** Opens a folder of image files and creates it if necessary. Removes the access of other users to the folder and its files. */
export async function openImageFiles(folder: string, warn: WarnAboutMode = NO_WARNING): Promise<ImageFiles> {
  privateFolder(folder, warn)
  for (const { name } of (await readdir(folder)).sort().flatMap(fileOf)) tightenFile(join(folder, name), warn)
  const fileOfImage = (image: number, receiver: string): string => join(folder, `${image}-${receiver}.img.gz`)
  const partOf = (image: number, receiver: string): string => join(folder, `${image}-${receiver}.part`)
  return {
    create: (image, receiver) => open(partOf(image, receiver), 'wx', 0o600),
    commit: async (image, receiver) => {
      try {
        await rename(partOf(image, receiver), fileOfImage(image, receiver))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
        throw error
      }
      const handle = await open(folder, 'r')
      await handle.sync().finally(() => handle.close())
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
      const { bavail, bsize } = await statfs(folder)
      return bavail * bsize
    },
    remove: ({ name }) => rm(join(folder, name), { force: true }),
    list: async () => (await readdir(folder)).flatMap(fileOf),
  }
}

/** Parses a file name; files with other names do not belong to the service and are ignored. */
function fileOf(name: string): ImageFile[] {
  const [, image, receiver] = /^([1-9][0-9]{0,14})-([0-9a-f]{16})\.(?:img\.gz|part)$/.exec(name) ?? []
  return image === undefined || receiver === undefined ? [] : [{ name, image: Number(image), receiver }]
}
