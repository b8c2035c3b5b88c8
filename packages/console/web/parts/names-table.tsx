import { TextInput } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { useNames } from '../api/queries.ts';
import { Loaded } from './loaded.tsx';
import { useSingleKeys } from './single-keys.ts';
import classes from './names-table.module.css';

interface NamesTableProps {
  /** What is listed: `LIST` of this path, encoded. */
  readonly path: string;
  /** Says what the names are. */
  readonly label: string;
  readonly row: (name: string, info: Readonly<Record<string, unknown>>) => ReactNode;
  readonly empty: ReactNode;
  /** What the filter looks through; the name, unless ids are listed. */
  readonly text?: (name: string, info: Readonly<Record<string, unknown>>) => string;
}

const ROW = 37;

function nameOnly(name: string): string {
  return name;
}

/** The names below a path: read a page at a time as one scrolls, only the seen rows in the document, with a filter (`/`). */
export function NamesTable({ path, label, row, empty, text = nameOnly }: NamesTableProps) {
  const [filter, setFilter] = useState('');
  const names = useNames(path);
  const all = useMemo(
    () => (names.data?.pages ?? []).flatMap(({ keys, keyInfo }) => keys.map((name) => ({ name, info: keyInfo[name] ?? {} }))),
    [names.data],
  );
  const shown = useMemo(() => {
    const wanted = filter.trim().toLowerCase();
    return wanted === '' ? all : all.filter(({ name, info }) => text(name, info).toLowerCase().includes(wanted));
  }, [all, filter, text]);
  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({ count: shown.length, getScrollElement: () => box.current, estimateSize: () => ROW, overscan: 8 });
  const items = rows.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = names;
  // A filter looks through everything, so it reads on.
  const wantsMore = hasNextPage && !isFetchingNextPage && (last >= shown.length - 20 || filter !== '');
  useEffect(() => {
    if (wantsMore) void fetchNextPage();
  }, [wantsMore, fetchNextPage]);
  const field = useRef<HTMLInputElement>(null);
  useSingleKeys((key) => {
    if (key !== '/' || !field.current) return false;
    field.current.focus();
    return true;
  });
  return (
    <Loaded query={names}>
      {() =>
        all.length === 0 ? (
          empty
        ) : (
          <>
            <TextInput
              ref={field}
              className={classes.filter}
              leftSection={<IconSearch size={15} />}
              placeholder="Filter ( / )"
              aria-label={`Filter ${label.toLowerCase()}`}
              value={filter}
              onChange={({ currentTarget }) => setFilter(currentTarget.value)}
            />
            <p className={classes.count} role="status">
              {filter === ''
                ? `${all.length}${hasNextPage ? ' or more' : ''}`
                : `${shown.length} of ${all.length}${hasNextPage ? ' read so far' : ''}`}
            </p>
            <div ref={box} className={classes.box} role="region" aria-label={label} tabIndex={0}>
              <ul className={classes.list} style={{ height: rows.getTotalSize() }}>
                {items.map(({ index, start, size }) => {
                  const { name, info } = shown[index]!;
                  return (
                    <li
                      key={name}
                      className={classes.row}
                      style={{ transform: `translateY(${start}px)`, height: size }}
                      aria-setsize={shown.length}
                      aria-posinset={index + 1}
                    >
                      {row(name, info)}
                    </li>
                  );
                })}
              </ul>
            </div>
          </>
        )
      }
    </Loaded>
  );
}
