/**
 * Whether a name has all words, in whatever case, and at least one of them in its own part, behind the last slash of the folder: what is in a folder that has
 * all of them is not found again and again.
 */
export function nameMatcher(words: readonly string[]): (path: string) => boolean {
  const wanted = words.map((word) => word.toLowerCase());
  return (path) => {
    const text = path.toLowerCase();
    const own = text.lastIndexOf('/', text.length - 2) + 1;
    let ofItsOwn = false;
    for (const word of wanted) {
      const at = text.lastIndexOf(word);
      if (at < 0) return false;
      if (at + word.length > own) ofItsOwn = true;
    }
    return ofItsOwn;
  };
}
