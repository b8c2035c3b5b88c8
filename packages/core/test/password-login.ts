import { API_VERSION, defaultTokenParameters, f, path, TokenRefused, tokenTerms, type EnginePackage } from '@strongroom/engine-sdk';
import { Type } from 'typebox';

/** A login method as small as can be: people with a name, a password and policies. */
export function passwordLogin(name: string): EnginePackage {
  return {
    name,
    kind: 'auth',
    apiVersion: API_VERSION,
    create: ({ storage }) => {
      const users = storage.collection('user/', Type.Object({ password: Type.String(), policies: Type.Array(Type.String()) }));
      const fields = { name: f.name('Name.'), password: f.string('Password.', { required: true }) };
      return {
        paths: [
          path('users/{name}', {
            synopsis: 'A person.',
            description: 'With a password.',
            fields: { ...fields, policies: f.commaStrings('Policies.', { default: [] }) },
          }).update({
            summary: 'Write a person',
            handle: async ({ data: { name: user, password, policies } }) => {
              await users.put(user, { password, policies });
              return undefined;
            },
          }),
          path('login/{name}', {
            synopsis: 'A login.',
            description: 'By name and password.',
            login: (data) => String(data['name']),
            fields,
          }).update({
            summary: 'Log in',
            handle: async ({ data }) => {
              const user = await users.get(data.name);
              if (user?.password !== data.password) throw new TokenRefused();
              const terms = tokenTerms(defaultTokenParameters);
              return { auth: { policies: user.policies, displayName: data.name, metadata: {}, alias: { name: data.name }, terms } };
            },
          }),
        ],
      };
    },
  };
}
