import type { ReactNode } from 'react';
import { apiPath } from '../api/api-path.ts';
import { NamesTable } from './names-table.tsx';
import { usePlace } from './place.ts';
import { To } from './to.tsx';

interface FolderedNamesProps {
  /** What is listed: `LIST` of this path, encoded, gives the uppermost level. */
  readonly list: string;
  readonly label: string;
  /** The page that this stands in. `?folder=org/team/` opens a folder. */
  readonly page: string;
  readonly params: Readonly<Record<string, string>>;
  readonly empty: ReactNode;
  /** The row of a whole name, with the folders before it. */
  readonly row: (name: string) => ReactNode;
}

/** Names with slashes in them, a level at a time: folders end in a slash, and open in the same page. */
export function FolderedNames({ list, label, page, params, empty, row }: FolderedNamesProps) {
  const { folder = '' } = usePlace().search;
  const inside = folder === '' ? list : `${list}/${apiPath(folder.replace(/\/$/, ''))}`;
  return (
    <>
      {folder !== '' && <FolderPath folder={folder} label={label} page={page} params={params} />}
      <NamesTable
        key={inside}
        path={inside}
        label={label}
        empty={folder === '' ? empty : <p>This folder is empty.</p>}
        row={(name) =>
          name.endsWith('/') ? (
            <To to={page} params={params} search={{ folder: folder + name }}>
              {name}
            </To>
          ) : (
            row(folder + name)
          )
        }
      />
    </>
  );
}

/** The folders that lead to an open one, each a link but for the last. */
function FolderPath({ folder, label, page, params }: Pick<FolderedNamesProps, 'label' | 'page' | 'params'> & { readonly folder: string }) {
  const names = folder.split('/').filter((name) => name !== '');
  return (
    <nav aria-label="Folder">
      <To to={page} params={params}>
        {label}
      </To>
      {names.map((name, at) => (
        <span key={names.slice(0, at + 1).join('/')}>
          {' / '}
          {at === names.length - 1 ? (
            <span aria-current="true">{name}</span>
          ) : (
            <To to={page} params={params} search={{ folder: `${names.slice(0, at + 1).join('/')}/` }}>
              {name}
            </To>
          )}
        </span>
      ))}
    </nav>
  );
}
