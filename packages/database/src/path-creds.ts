import { type AnyPath, BadRequest, type EngineHost, f, idempotencyFields, leased, path } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { DynamicUsers } from './dynamic-users.ts';
import { recordsIn } from './records.ts';

export function credsPaths(host: EngineHost, users: DynamicUsers): readonly AnyPath[] {
  const records = recordsIn(host.storage);
  const creds = path('creds/{name}', {
    synopsis: 'Short-lived database users.',
    description: 'Each read makes a user of the role, with a lease. When the lease ends the user is removed.',
    fields: { name: f.name('Name of the role.'), ...idempotencyFields },
  }).read({
    summary: 'Issues a database user.',
    oncePerKey: true,
    response: leased(
      Type.Object({
        username: Type.String(),
        password: Type.Optional(Type.String({ secret: true })),
        rsa_private_key: Type.Optional(Type.String({ description: 'PEM, PKCS #8.', secret: true })),
        client_certificate: Type.Optional(Type.String({ description: 'PEM.' })),
        private_key: Type.Optional(Type.String({ description: 'PEM, PKCS #8.', secret: true })),
        private_key_type: Type.Optional(Type.String()),
      }),
    ),
    handle: async (req) => {
      const { name } = req.data;
      const role = await records.roles.get(name);
      if (!role) throw new BadRequest(`unknown role: ${name}`);
      return users.create(req, name, role);
    },
  });
  return [creds];
}
