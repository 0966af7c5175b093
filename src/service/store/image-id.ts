/** The number of a private image by its id, `private/123`; null where the text is the id of none. */
export function numberOfImage(id: string): number | null {
  const number = /^private\/([1-9][0-9]{0,14})$/.exec(id)?.[1]
  return number === undefined ? null : Number(number)
}

export const idOfImage = (number: number): string => `private/${number}`
