import { useRef, useState } from 'react';
import { useGo } from '../parts/place.ts';
import { useSingleKeys } from '../parts/single-keys.ts';

/** Where `g` and another key go. */
export const KEY_PLACES: Readonly<Record<string, readonly [to: string, label: string]>> = {
  h: ['/', 'Home'],
  s: ['/kv', 'Secrets'],
  d: ['/database', 'Databases'],
  a: ['/access/policies', 'Access'],
  l: ['/leases', 'Leases'],
  w: ['/work', 'Work'],
  m: ['/mounts', 'Mounts'],
};

/** Milliseconds in which the second key follows `g`. */
const SOON = 1_500;

/** The keys of every page, and their help. */
export function usePageKeys() {
  const go = useGo();
  const [help, setHelp] = useState(false);
  const began = useRef(0);
  useSingleKeys((key) => {
    const second = Date.now() - began.current < SOON;
    began.current = key === 'g' && !second ? Date.now() : 0;
    if (second && Object.hasOwn(KEY_PLACES, key)) {
      go(KEY_PLACES[key]![0]);
      return true;
    }
    if (key === '?') setHelp(true);
    else if (key === 'e') return pressEdit();
    else return key === 'g';
    return true;
  });
  return { help, setHelp };
}

/** Presses the button of the page that edits. */
function pressEdit(): boolean {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>('#page button:not([aria-disabled="true"]):not(:disabled)')];
  const edit = buttons.find(
    ({ textContent }) => textContent === 'Edit' || textContent === 'New version' || textContent === 'Edit metadata',
  );
  edit?.click();
  return edit !== undefined;
}
