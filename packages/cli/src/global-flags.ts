import { flag } from './flag.ts';
import type { FlagValues } from './flag.ts';

/** Where the server is and how to ask it. Commands that talk to none do not take these. */
export const connectionFlags = {
  address: flag.text('Address of the server. Also STRONGROOM_ADDR. Default: https://127.0.0.1:8200.', { placeholder: 'url' }),
  'ca-cert': flag.text("File with the PEM certificate that signed the server's. Also STRONGROOM_CACERT.", { placeholder: 'file' }),
  'ca-path': flag.text('Folder of such PEM files. Also STRONGROOM_CAPATH.', { placeholder: 'folder' }),
  'client-cert': flag.text('PEM certificate to present to the server. Also STRONGROOM_CLIENT_CERT.', { placeholder: 'file' }),
  'client-key': flag.text('PEM private key of -client-cert. Also STRONGROOM_CLIENT_KEY.', { placeholder: 'file' }),
  'tls-server-name': flag.text("Name to expect in the server's certificate. Also STRONGROOM_TLS_SERVER_NAME.", { placeholder: 'name' }),
  'tls-skip-verify': flag.toggle('Accept any server certificate; for testing only. Also STRONGROOM_SKIP_VERIFY.'),
  namespace: flag.text('Namespace to work in. Also STRONGROOM_NAMESPACE.', { aliases: ['ns'], placeholder: 'path' }),
  header: flag.map('Extra request header, as name=value; repeatable.', { placeholder: 'name=value' }),
  'wrap-ttl': flag.duration('Return the answer as a wrapping token that lives this long. Also STRONGROOM_WRAP_TTL.'),
  'output-curl-string': flag.boolean('Print the request as a curl command instead of sending it.'),
  'output-policy': flag.boolean('Print the policy that the request needs instead of sending it.'),
} as const;

/** How to answer. Every command takes these. */
export const outputFlags = {
  format: flag.text('How to print the answer. Also STRONGROOM_FORMAT. Default: table.', { choices: ['table', 'json', 'yaml', 'raw'] }),
  field: flag.text('Print only this field of the answer, without decoration.', { placeholder: 'name' }),
  'no-color': flag.boolean('Print without colours. Also NO_COLOR.'),
  'non-interactive': flag.boolean('Never ask; fail and say what is missing.'),
} as const;

/** Flags that may stand before or after a command's own words. */
export const globalFlags = { ...connectionFlags, ...outputFlags } as const;

export type GlobalOptions = FlagValues<typeof globalFlags>;
