/** What tabs tell each other: never a token. `active`: somebody is at work in one of them. */
export type SessionWord = 'active' | 'lock' | 'log out';

const channel = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('strongroom-session');

/** Tells the other tabs of this console. */
export function tellTabs(word: SessionWord): void {
  channel?.postMessage(word);
}

/** @returns what ends the subscription */
export function hearTabs(heard: (word: SessionWord) => void): () => void {
  const listener = ({ data }: MessageEvent<SessionWord>): void => heard(data);
  channel?.addEventListener('message', listener);
  return () => channel?.removeEventListener('message', listener);
}
