import { Kbd, Text, TextInput, UnstyledButton } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { useRead } from '../api/queries.ts';
import { useAddresses } from '../parts/place.ts';
import { Dialog } from '../parts/dialog.tsx';
import { areas } from './areas.ts';
import { matching, mountEntry, ranked, type Hit, type PaletteEntry } from './palette-entries.ts';
import classes from './palette.module.css';

const MOST = 50;
/** Milliseconds without a key before the server is asked. */
const PAUSE = 120;

const PAGES: readonly PaletteEntry[] = areas.flatMap(({ entry, places = [] }) =>
  [...(entry ? [{ label: entry.label, to: entry.to }] : []), ...places].map(({ label, to }) => ({
    id: `page ${label}`,
    label,
    kind: 'page',
    url: to,
  })),
);

interface PaletteProps {
  readonly opened: boolean;
  readonly setOpened: (opened: boolean) => void;
}

/** The field in the header that opens the palette, as `Ctrl K` does everywhere. */
export function Palette({ opened, setOpened }: PaletteProps) {
  return (
    <>
      <UnstyledButton className={classes.field} onClick={() => setOpened(true)} aria-label="Go to… Ctrl K" aria-haspopup="dialog">
        <IconSearch size={15} />
        <Text span size="sm" c="dimmed" className={classes.fieldText}>
          Go to…
        </Text>
        <Kbd className={classes.keys}>Ctrl K</Kbd>
      </UnstyledButton>
      <Dialog title="Go to" opened={opened} onClose={() => setOpened(false)} size="lg">
        <Choice close={() => setOpened(false)} />
      </Dialog>
    </>
  );
}

interface Found {
  readonly hits: readonly Hit[];
  readonly complete: boolean;
  readonly left_out_count: number;
}

function Choice({ close }: { readonly close: () => void }) {
  const addresses = useAddresses();
  const [text, setText] = useState('');
  const [asked, setAsked] = useState('');
  const [chosen, setChosen] = useState(0);
  const [eager, setEager] = useState(false);
  const list = useId();
  const box = useRef<HTMLUListElement>(null);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.trim()), PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  const mounts = useRead<{ secret: Record<string, { type: string }> }>('sys/internal/ui/mounts');
  const search = useRead<Found>('sys/internal/ui/search', { query: { q: asked, limit: MOST }, enabled: asked !== '' });
  const known = useMemo(
    () => [...PAGES, ...Object.entries(mounts.data?.data.secret ?? {}).map(([path, { type }]) => mountEntry(path, type))],
    [mounts.data],
  );
  const waits = text.trim() !== asked || (asked !== '' && search.isFetching);
  const hits = asked !== '' && text.trim() === asked ? (search.data?.data.hits ?? []) : [];
  const entries = [...matching(known, text).slice(0, text === '' ? 20 : 8), ...ranked(hits, text)];
  const at = Math.min(chosen, entries.length - 1);
  const open = (entry: PaletteEntry | undefined): void => {
    if (!entry) return;
    close();
    addresses.push(`/ui${entry.url}`);
  };
  const onKey = (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined && entries.length > 0) {
      event.preventDefault();
      const next = (at + by + entries.length) % entries.length;
      setChosen(next);
      box.current?.children[next]?.scrollIntoView({ block: 'nearest' });
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      if (entries.length === 0) setEager(true);
      else open(entries[at]);
    }
  };
  // Enter came before the answer.
  useEffect(() => {
    if (!eager || waits) return;
    setEager(false);
    open(entries[0]);
  });
  const left = search.data?.data.left_out_count ?? 0;
  return (
    <>
      <TextInput
        data-autofocus
        role="combobox"
        aria-expanded
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={entries.length > 0 ? `${list}-${at}` : undefined}
        aria-label="Name of a page, mount, secret or role"
        placeholder="Name of a page, mount, secret or role"
        leftSection={<IconSearch size={15} />}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value);
          setChosen(0);
          setEager(false);
        }}
        onKeyDown={onKey}
      />
      <ul ref={box} className={classes.list} id={list} role="listbox" aria-label="Places">
        {entries.map((entry, index) => (
          // The field has the focus and the keys; a pointer may choose as well.
          <li
            key={entry.id}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === at}
            className={classes.entry}
            onClick={() => open(entry)}
          >
            <span className={classes.label}>{entry.label}</span>
            <span className={classes.kind}>{entry.kind}</span>
          </li>
        ))}
      </ul>
      <Text size="xs" c="dimmed" role="status">
        {waits
          ? 'Looking…'
          : search.error && asked !== ''
            ? `Names could not be searched: ${search.error.message}`
            : entries.length === 0
              ? 'Nothing has this name, as far as the token may list.'
              : search.data && asked !== '' && (!search.data.data.complete || left > 0)
                ? `There may be more${left > 0 ? `: ${left} folders that the token may not list were left out` : ': write more of the name'}.`
                : 'Enter opens it.'}
      </Text>
    </>
  );
}
