import { randomUUID } from 'node:crypto';
import { mergeRoleTokens, roleTokenData, roleTokenFields } from '@strongroom/auth-sdk';
import { type AnyPath, BadRequest, f, namesPath, NoContent, NotFound, path, shownFields } from '@strongroom/engine-sdk';
import type { PasswordHash } from './password-hash.ts';
import { passwordMissing, type Passwords } from './passwords.ts';
import { usernameField } from './user-name.ts';
import type { User, Users } from './users.ts';

const passwordFields = {
  password: f.secret('Password of the user.'),
  password_hash: f.secret(
    'A bcrypt hash of the password from another system, `$2a$`, `$2b$` or `$2y$`, of cost 5 to 12. The first login replaces it with a stronger hash.',
  ),
} as const;
const tokenFields = roleTokenFields(['policies', 'ttl', 'max_ttl', 'bound_cidrs']);

export function userPaths(users: Users, passwords: Passwords): AnyPath[] {
  return [
    namesPath('users', users.records, { synopsis: 'The names of the users.' }),

    path('users/{username}', {
      synopsis: 'Configure a user: the password, and the tokens to issue.',
      description:
        'A write changes only the parameters that it contains. A read never shows the password. After a user is deleted, tokens stay valid until they expire.',
      fields: { username: usernameField, ...passwordFields, ...tokenFields },
    })
      .read({
        summary: 'Read a user.',
        response: shownFields(tokenFields),
        handle: async ({ data }) => {
          const user = await users.records.get(data.username);
          return user && { data: roleTokenData(user) };
        },
      })
      .upsert({
        summary: 'Create or change a user.',
        response: NoContent,
        exists: async (req) => users.records.has(req.data.username),
        handle: async ({ data, supplied, signal }) => {
          // What would be refused is refused before it costs a hash.
          mergeRoleTokens(await users.records.get(data.username), data, supplied);
          const hash = await passwords.fromWrite(data, signal);
          await users.change(data.username, (stored) => {
            const written = hash ? newPassword(hash) : stored;
            if (!written) throw passwordMissing();
            const { password, password_id } = written;
            return { ...mergeRoleTokens(stored, data, supplied), password, password_id };
          });
          return undefined;
        },
      })
      .delete({
        summary: 'Delete a user.',
        response: NoContent,
        handle: async ({ data }) => {
          await users.delete(data.username);
          return undefined;
        },
      }),

    path('users/{username}/password', {
      synopsis: 'Set the password of a user.',
      description: 'Replaces the password. Existing tokens of the user stay valid.',
      fields: { username: usernameField, ...passwordFields },
    }).update({
      summary: 'Set the password of a user.',
      response: NoContent,
      handle: async ({ data, signal }) => {
        if (!(await users.records.has(data.username))) throw noSuchUser();
        const password = await passwords.fromWrite(data, signal);
        if (!password) throw passwordMissing();
        await users.change(data.username, (stored) => {
          if (!stored) throw noSuchUser();
          return { ...stored, ...newPassword(password) };
        });
        return undefined;
      },
    }),

    path('users/{username}/policies', {
      synopsis: 'Set the policies of a user.',
      description: 'Replaces the policies. Tokens with other policies can no longer be renewed.',
      fields: { username: usernameField, ...policyFields() },
    }).update({
      summary: 'Set the policies of a user.',
      response: NoContent,
      handle: async ({ data, supplied }) => {
        await users.change(data.username, (stored) => {
          if (!stored) throw noSuchUser();
          if (data.token_policies === undefined && data.policies === undefined) throw new BadRequest('missing token_policies');
          return { ...stored, ...mergeRoleTokens(stored, data, supplied) };
        });
        return undefined;
      },
    }),
  ];
}

function policyFields() {
  const { token_policies, policies } = tokenFields;
  return { token_policies, policies };
}

function newPassword(password: PasswordHash): Pick<User, 'password' | 'password_id'> {
  return { password, password_id: randomUUID() };
}

function noSuchUser(): NotFound {
  return new NotFound('username does not exist');
}
