import { f, path, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { isCloudError } from './cloud-error.ts';
import type { DynamicUsers } from './dynamic-users.ts';
import { sessionFields } from './path-creds.ts';
import { recordsIn } from './records.ts';
import { requireRole, typeFor } from './roles.ts';
import type { Root } from './root.ts';
import type { TemporaryCredentials } from './temporary-credentials.ts';

const Texts = Type.Array(Type.String());

/** Stands where each user gets an id of its own. */
const EXAMPLE_CREATION = '00000000-0000-0000-0000-000000000000';

export function previewPaths(
  host: EngineHost,
  parts: { root: Root; users: DynamicUsers; temporary: TemporaryCredentials },
): readonly AnyPath[] {
  const { roles } = recordsIn(host.storage);
  const { root, users, temporary } = parts;

  const preview = path('preview/{name:at}', {
    synopsis: 'What creds would do.',
    description:
      'Nothing is made or changed. For temporary credentials the policies of iam_groups are read from the provider, and shown as they will be sent.',
    fields: {
      name: f.name('Name of the role.'),
      path: f.string('creds or sts: matters for roles in the old form.', { default: 'creds', values: ['creds', 'sts'] }),
      ...sessionFields,
    },
  }).read({
    summary: 'Shows the names, policies and tags that a credential would have.',
    response: Type.Object({
      credential_type: Type.String(),
      username: Type.Optional(Type.String({ description: 'An example: most templates give another name each time.' })),
      user_path: Type.Optional(Type.String()),
      permissions_boundary_arn: Type.Optional(Type.String()),
      iam_groups: Type.Optional(Texts),
      tags: Type.Optional(Type.Record(Type.String(), Type.String())),
      role_arn: Type.Optional(Type.String()),
      session_name: Type.Optional(Type.String()),
      external_id: Type.Optional(Type.String()),
      ttl: Type.Optional(Type.Number({ description: 'Seconds.' })),
      policy_arns: Texts,
      policy_document: Type.String(),
    }),
    handle: async (req) => {
      const { name, path: which, ...wish } = req.data;
      const role = await requireRole(roles, name);
      const type = typeFor(role, which === 'sts' ? 'sts' : 'creds');
      const { names } = await root.require();
      if (type === 'iam_user') {
        return {
          data: {
            credential_type: type,
            username: names.next('IAM', req.caller.displayName, name),
            user_path: role.user_path || '/',
            permissions_boundary_arn: role.permissions_boundary_arn,
            iam_groups: role.iam_groups,
            tags: users.tagsOf(role, EXAMPLE_CREATION),
            policy_arns: role.policy_arns,
            policy_document: role.policy_document,
          },
        };
      }
      const plan = await temporary.plan(req.caller.displayName, name, role, type, wish);
      const { policies, warnings } = await temporary.policies(role, req.signal).then(
        (found) => ({ policies: found, warnings: [] as string[] }),
        (error: unknown) => {
          if (!isCloudError(error)) throw error;
          // The rest is of use all the same.
          return { policies: { policyArns: role.policy_arns, policyDocument: role.policy_document }, warnings: [error.message] };
        },
      );
      return {
        data: {
          credential_type: type,
          session_name: plan.name,
          ttl: plan.seconds,
          ...(type === 'assumed_role' ? { role_arn: plan.roleArn, external_id: role.external_id, tags: role.session_tags } : {}),
          policy_arns: [...policies.policyArns],
          policy_document: policies.policyDocument,
        },
        warnings: [...plan.warnings, ...warnings],
      };
    },
  });

  return [preview];
}
