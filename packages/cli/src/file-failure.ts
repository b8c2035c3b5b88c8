const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EEXIST: 'it is there already',
  EISDIR: 'it is a folder',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'there is no such file or folder',
  ENOEXEC: 'it is no program of this system',
  ENOMEM: 'there is not enough memory',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'part of its path is not a folder',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  ETXTBSY: 'another program is writing it',
};

/** Why the system refused a file or a program, in words, behind its name if there is one; the message of any other error. */
export function reasonOf(error: NodeJS.ErrnoException, file?: string): string {
  const { code = '', message } = error;
  if (!Object.hasOwn(REASONS, code)) return message;
  return file === undefined ? REASONS[code]! : `${file}: ${REASONS[code]!}`;
}
