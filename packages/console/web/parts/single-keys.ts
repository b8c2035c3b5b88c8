import { useEffect, useRef, useSyncExternalStore } from 'react';

const OFF = 'strongroom-keys-off';
const listeners = new Set<() => void>();

/** Whether keys without *Ctrl* do anything. Some people speak to their computer, and what they say would press them. */
export const singleKeys = {
  on: (): boolean => localStorage.getItem(OFF) === null,
  turn(on: boolean): void {
    if (on) localStorage.removeItem(OFF);
    else localStorage.setItem(OFF, '1');
    for (const listener of listeners) listener();
  },
};

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export function useSingleKeysOn(): boolean {
  return useSyncExternalStore(subscribe, singleKeys.on);
}

/**
 * Calls back for a key that is pressed by itself: outside of fields and dialogues, and unless somebody has turned such keys off. The key counts as used where the answer
 * is true.
 */
export function useSingleKeys(press: (key: string) => boolean): void {
  const on = useSingleKeysOn();
  const current = useRef(press);
  current.current = press;
  useEffect(() => {
    if (!on) return undefined;
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event)) return;
      if (document.querySelector('[role="dialog"]')) return;
      if (current.current(event.key)) event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [on]);
}

/** Into a field; the editor is in a shadow root, of which the path tells. */
function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return target instanceof HTMLElement && (/^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable);
}
