import { BadRequest, f, path, tokenTerms, defaultTokenParameters, UpstreamFailed, type EnginePackage } from '@strongroom/engine-sdk';

export const PASSWORD = 'open-sesame-by-password';

/** A login method: any name, one password. `entered` is called when its handler begins. */
export function doorLogin(entered: () => void = () => undefined): EnginePackage {
  const login = path('login/{user}', {
    synopsis: 'Opens the door.',
    description: 'To those who know the word.',
    login: (data) => String(data['user']),
    fields: { user: f.name('Who.'), password: f.secret('The word.', { required: true }) },
  }).update({
    summary: 'Logs in.',
    handle: async ({ data }) => {
      entered();
      if (data.password !== PASSWORD) throw new BadRequest('invalid credentials');
      return {
        auth: {
          displayName: data.user,
          policies: ['visitor'],
          metadata: { user: data.user },
          alias: { name: data.user },
          terms: tokenTerms({ ...defaultTokenParameters, token_ttl: 3_600 }),
        },
      };
    },
  });
  return { name: 'door', kind: 'auth', apiVersion: 2, create: () => ({ paths: [login] }) };
}

/** A secrets engine with one drawer in memory, and a path that fails. */
export function drawerEngine(entered: () => void = () => undefined): EnginePackage {
  return {
    name: 'drawer',
    kind: 'secret',
    apiVersion: 2,
    create: () => {
      let kept: string | undefined;
      const drawer = path('drawer', {
        synopsis: 'One value.',
        description: 'Kept in memory.',
        fields: { value: f.secret('The value.') },
      })
        .read({
          summary: 'Reads.',
          handle: async () => {
            entered();
            return kept === undefined ? undefined : { data: { value: kept } };
          },
        })
        .upsert({
          summary: 'Writes.',
          exists: async () => kept !== undefined,
          handle: async ({ data }) => {
            entered();
            if (data.value === undefined) throw new BadRequest('missing value');
            kept = data.value;
            return undefined;
          },
        });
      const hole = path('hole', { synopsis: 'Fails.', description: 'As an outside system does.', fields: {} })
        .read({
          summary: 'Fails.',
          handle: async () => {
            throw new UpstreamFailed('the hole is deep');
          },
        })
        .update({
          summary: 'Fails by a fault of its own.',
          handle: async () => {
            throw new TypeError('a slip in the engine');
          },
        });
      return { paths: [drawer, hole] };
    },
  };
}
