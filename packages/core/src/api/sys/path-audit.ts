import { type AnyPath, BadRequest, f, NoContent, path } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { AuditBroker } from '../../services/audit/audit-broker.ts';

const orNull = Type.Union([Type.String(), Type.Null()]);
const Device = Type.Object({
  path: Type.String(),
  type: Type.String(),
  description: Type.String(),
  options: Type.Record(Type.String(), Type.String()),
  local: Type.Boolean(),
  status: Type.Object({
    state: Type.String(),
    written: Type.Integer({ description: 'Lines since the server started.' }),
    failed: Type.Integer(),
    dropped: Type.Integer({ description: 'Lines that were never handed to the device, because too many were waiting.' }),
    waiting: Type.Integer(),
    last_error: orNull,
    last_error_time: orNull,
    buffer: Type.Optional(
      Type.Object(
        {
          bytes: Type.Integer({ description: 'What waits for delivery.' }),
          most_bytes: Type.Integer({ description: 'Above which no more lines are taken.' }),
          oldest: Type.Union([Type.String(), Type.Null()], { description: 'When the oldest line that waits was written.' }),
          delivered_lines: Type.Integer({ description: 'Since the server started.' }),
          deliveries: Type.Integer(),
          failures: Type.Integer(),
          last_error: orNull,
          last_error_time: orNull,
        },
        { description: 'Of a device that keeps lines on disk until they are delivered.' },
      ),
    ),
  }),
});

/** `sys/audit` and `sys/audit-hash`. */
export function auditPaths({ broker }: { readonly broker: AuditBroker }): AnyPath[] {
  return [
    path('audit', {
      synopsis: 'List the audit devices.',
      description: 'Every device with its options and with how it fares: `status` tells whether it writes, and what went wrong last.',
      access: 'sudo',
      fields: {},
    }).read({
      summary: 'List the audit devices',
      response: Type.Record(Type.String(), Device),
      handle: async () => ({ data: Object.fromEntries(broker.list().map((device) => [device.path, device])) }),
    }),

    path('audit/{path:all}', {
      synopsis: 'Enable or disable an audit device.',
      description:
        'A device is enabled once it has taken a test line. As long as there are devices, a request that none of them can write is refused.',
      access: 'sudo',
      fields: {
        path: f.name('Where the device is known in this list.'),
        type: f.string('Type of the device: file, socket, syslog or http.', { default: '' }),
        description: f.string('What the device is for.', { default: '' }),
        options: f.keyValues('Options of the type, such as file_path; and log_raw, hmac_accessor, elide_list_responses of every type.', {
          default: {},
        }),
        local: f.bool('Kept for clients that send it.', { default: false }),
      },
    })
      .update({
        summary: 'Enable an audit device',
        response: NoContent,
        handle: async ({ data }) => {
          await broker.enable(data.path, { type: data.type, description: data.description, options: data.options, local: data.local });
          return undefined;
        },
      })
      .delete({
        summary: 'Disable an audit device',
        response: NoContent,
        handle: async ({ data }) => {
          await broker.disable(data.path);
          return undefined;
        },
      }),

    path('audit-hash/{path:all}', {
      synopsis: 'The digest of a value in the lines of an audit device.',
      description: 'For finding a known value in a log that holds digests.',
      fields: {
        path: f.name('Path of the device.'),
        input: f.secret('The value.', { default: '' }),
      },
    }).update({
      summary: 'Digest a value as an audit device does',
      response: Type.Object({ hash: Type.String() }),
      handle: async ({ data }) => {
        if (data.input === '') throw new BadRequest('the "input" parameter is empty');
        return { data: { hash: broker.hash(data.path, data.input) } };
      },
    }),
  ];
}
