import { wordDistance } from '@strongroom/engine-sdk/closest';

/** The known words nearest to a mistyped one, best first, at most three. */
export function closest(word: string, known: Iterable<string>): string[] {
  const limit = Math.max(2, Math.floor(word.length / 3));
  return [...new Set(known)]
    .map((candidate) => ({ candidate, score: candidate.startsWith(word) && word.length > 1 ? 1 : wordDistance(word, candidate) }))
    .filter(({ score }) => score <= limit)
    .sort((a, b) => a.score - b.score || a.candidate.localeCompare(b.candidate))
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/** ` Did you mean "x" or "y"?`, or nothing when no word is near. */
export function didYouMean(words: readonly string[]): string {
  return words.length === 0 ? '' : ` Did you mean ${words.map((word) => `"${word}"`).join(' or ')}?`;
}
