import { type AnyPath, f, keysOf, ListedKeys, NoContent, pageFields, path } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { unknownPasswordPolicy, type PasswordPolicyStore } from '../../services/passwords/password-policy-store.ts';

export interface PasswordPolicyPathDeps {
  readonly passwords: PasswordPolicyStore;
}

const name = f.name('Name of the password policy.');

/** `sys/policies/password`. */
export function passwordPolicyPaths({ passwords }: PasswordPolicyPathDeps): AnyPath[] {
  const known = async (policy: string): Promise<string> => {
    const text = await passwords.get(policy);
    if (text === undefined) throw unknownPasswordPolicy();
    return text;
  };
  return [
    path('policies/password', {
      synopsis: 'The password policies.',
      description: 'Lists the names of all password policies.',
      fields: pageFields,
    }).list({
      summary: 'Lists the password policies.',
      response: ListedKeys,
      searched: true,
      handle: async ({ data }) => keysOf(passwords, data),
    }),
    path('policies/password/{name}', {
      synopsis: 'One password policy.',
      description: 'How long the passwords are that engines make by it, and of what characters.',
      fields: { name, policy: f.string('The rules: HCL, JSON, or base64 of either.') },
    })
      .read({
        summary: 'Reads a password policy.',
        response: Type.Object({ policy: Type.String() }),
        handle: async (req) => ({ data: { policy: await known(req.data.name) } }),
      })
      .update({
        summary: 'Creates or replaces a password policy.',
        response: NoContent,
        handle: async (req) => {
          await passwords.put(req.data.name, req.data.policy ?? '');
          return undefined;
        },
      })
      .delete({
        summary: 'Deletes a password policy.',
        response: NoContent,
        handle: async (req) => {
          await passwords.delete(req.data.name);
          return undefined;
        },
      }),
    path('policies/password/{name}/generate', {
      synopsis: 'Makes a password by a policy.',
      description: 'The password is not stored anywhere.',
      fields: { name },
    }).read({
      summary: 'Makes a password.',
      response: Type.Object({ password: Type.String({ secret: true }) }),
      handle: async (req) => {
        await known(req.data.name);
        return { data: { password: await passwords.generate(req.data.name) } };
      },
    }),
  ];
}
