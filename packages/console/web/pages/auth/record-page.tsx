import { Text } from '@mantine/core';
import { apiPath } from '../../api/api-path.ts';
import { declaredItem } from '../../api/engine-paths.ts';
import { dataOf, useApiDocument } from '../../api/openapi.ts';
import { useStored } from '../../api/use-stored.ts';
import { CommandLines } from '../../parts/command-lines.tsx';
import { DeclaredAnswer } from '../../parts/declared-answer.tsx';
import { DeleteThing } from '../../parts/delete-thing.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { Settings } from '../../parts/settings.tsx';
import { MethodFrame } from './method-frame.tsx';
import { SecretIds } from './secret-ids.tsx';
import { useMethod } from './use-method.ts';

/** One role, user or group of a login method. */
export default function RecordPage() {
  const here = useMethod();
  const { mount, noun, shown } = here;
  const { rest: name = '' } = usePlace().params;
  const go = useGo();
  const listed = apiPath('auth', mount, noun?.path ?? '');
  const path = apiPath('auth', mount, noun?.path ?? '', name);
  const stored = useStored(path, noun !== undefined);
  const exists = stored.data?.data !== undefined;
  return (
    <MethodFrame
      here={here}
      title={name}
      section={noun?.path ?? ''}
      item
      actions={
        noun &&
        exists && (
          <DeleteThing
            path={`auth/${mount}/${noun.path}/${name}`}
            name={name}
            label={`Delete the ${noun.one}`}
            stale={[listed]}
            done={() => go('/auth/$mount/list/$noun', { mount, noun: noun.path })}
          >
            {noun.deleted}
          </DeleteThing>
        )
      }
    >
      {noun && (
        <Loaded query={stored}>
          {({ data }) => (
            <>
              {!data && (
                <Text mb="sm" size="sm">
                  There is no {noun.one} “{name}” yet.
                </Text>
              )}
              {data && shown?.type === 'approle' && <SecretIds mount={mount} role={name} />}
              {data && shown?.type === 'approle' && <h2>Settings</h2>}
              {data && noun.shows && <WhatItSays path={path} data={data} />}
              <Settings
                key={path}
                path={path}
                needs={{ path: `auth/${mount}/${noun.path}/${name}`, need: ['update', 'create'] }}
                stored={data}
                first={noun.first}
                resends={noun.resends ?? []}
                stale={[path, listed]}
                submit={data ? 'Save' : `Create the ${noun.one}`}
              />
            </>
          )}
        </Loaded>
      )}
      <CommandLines
        lines={[
          { with: 'CLI', command: `strongroom read auth/${mount}/${noun?.path}/${name}` },
          { with: 'curl', command: `curl -H "X-Vault-Token: $STRONGROOM_TOKEN" $STRONGROOM_ADDR/v1/${path}` },
        ]}
      />
    </MethodFrame>
  );
}

/** What the server found in what is stored, such as the serial numbers of a revocation list. */
function WhatItSays({ path, data }: { readonly path: string; readonly data: Readonly<Record<string, unknown>> }) {
  const document = useApiDocument();
  return (
    <Loaded query={document}>
      {(found) => (
        <section aria-labelledby="says">
          <h2 id="says">What it says</h2>
          <DeclaredAnswer document={found} schema={dataOf(found, declaredItem(found, path)?.get)} data={data} />
        </section>
      )}
    </Loaded>
  );
}
