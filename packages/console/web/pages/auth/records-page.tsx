import { apiPath } from '../../api/api-path.ts';
import { Empty } from '../../parts/empty.tsx';
import { NamesTable } from '../../parts/names-table.tsx';
import { NewByName } from '../../parts/new-by-name.tsx';
import { useGo } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { MethodFrame } from './method-frame.tsx';
import { useMethod } from './use-method.ts';

/** The roles, users or groups of a login method. */
export default function RecordsPage() {
  const here = useMethod();
  const { mount, noun } = here;
  const go = useGo();
  return (
    <MethodFrame
      here={here}
      title={noun ? `${noun.many} of ${mount}/` : mount}
      section={noun?.path ?? ''}
      actions={
        noun && (
          <NewByName
            label={`Name of the new ${noun.one}`}
            button={`New ${noun.one}`}
            needs={(name) => ({ path: `auth/${mount}/${noun.path}/${name}`, need: ['create', 'update'] })}
            onName={(rest) => go('/auth/$mount/$noun/$', { mount, noun: noun.path, rest })}
          />
        )
      }
    >
      {noun && (
        <NamesTable
          key={noun.path}
          path={apiPath('auth', mount, noun.path)}
          label={noun.many}
          empty={<Empty>{noun.empty}</Empty>}
          row={(rest) => (
            <To to="/auth/$mount/$noun/$" params={{ mount, noun: noun.path, rest }}>
              {rest}
            </To>
          )}
        />
      )}
    </MethodFrame>
  );
}
