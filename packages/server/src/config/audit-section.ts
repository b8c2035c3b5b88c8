import type { AuditDeviceConfig } from '@strongroom/core';
import { secretText } from './secret-text.ts';
import type { Block, Section } from './section.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The devices of the configuration, by path: `audit "file" "main" { file_path = "…" }`. */
export function readAudit(top: Section, env: Environment): Record<string, AuditDeviceConfig> {
  const devices: Record<string, AuditDeviceConfig> = {};
  for (const block of top.blocks('audit', 2)) {
    const path = (block.labels[1] ?? '').replace(/^\/+|\/+$/g, '');
    if (path === '') block.section.complainHere('the path is empty');
    else if (Object.hasOwn(devices, path)) block.section.complainHere('there are two devices at this path');
    else devices[path] = readDevice(block, env);
  }
  return devices;
}

const OPTIONS = [
  'file_path',
  'path',
  'mode',
  'format',
  'hmac_accessor',
  'log_raw',
  'prefix',
  'elide_list_responses',
  'address',
  'socket_type',
  'write_timeout',
  'facility',
  'tag',
  'uri',
  'tls_ca_cert',
  'tls_client_cert',
  'tls_client_key',
  'tls_server_name',
  'tls_skip_verify',
  'buffer_path',
  'buffer_size',
  'batch_size',
  'flush_interval',
];

function readDevice({ labels: [type = ''], section }: Block, env: Environment): AuditDeviceConfig {
  const description = section.text('description');
  const local = section.bool('local');
  const options: Record<string, string> = { ...section.map('options') };
  for (const name of OPTIONS) {
    const text = section.scalar(name);
    if (text !== undefined) options[name] = text;
  }
  const headers = secretText(section, 'headers', env);
  if (headers !== undefined) options['headers'] = headers;
  section.done();
  return { type, options, ...(description === undefined ? {} : { description }), ...(local === undefined ? {} : { local }) };
}
