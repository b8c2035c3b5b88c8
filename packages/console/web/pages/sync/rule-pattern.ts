/** The rule that means what a glob finds: `**` is the whole mount, `folder/**` is everything below it. Undefined for other globs. */
export function patternOf(glob: string): string | undefined {
  const folder = glob.endsWith('**') ? glob.slice(0, -2) : undefined;
  if (folder === undefined || /[*?]/.test(folder) || (folder !== '' && !folder.endsWith('/'))) return undefined;
  return `${folder}*`;
}
