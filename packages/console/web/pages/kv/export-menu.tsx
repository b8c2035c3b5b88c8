import { Button, Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { ApiError } from '../../api/api-error.ts';
import type { Json } from '../../api/exact-json.ts';
import { envOf } from './env-file.ts';
import { lastOf } from './kv-mount.ts';
import { leavesOf } from './leaves.ts';
import { readSecret, type SecretPart } from './secret.ts';

const KEPT = 'The clipboard keeps it until something else is copied.';

/** Exports all values as `.env` or JSON, without drawing them. */
export function ExportMenu({ mount, secret, version }: SecretPart & { readonly version: number | undefined }) {
  const withData = (use: (data: Readonly<Record<string, Json>>) => Promise<string> | string) => async (): Promise<void> => {
    try {
      const { data } = await readSecret(mount, secret, version);
      notifications.show({ message: data ? await use(data) : 'There are no values to export.' });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      notifications.show({ color: 'red', title: 'Nothing was exported', message: error.message });
    }
  };
  const copy = (text: string, more = ''): Promise<string> => navigator.clipboard.writeText(text).then(() => `Copied. ${KEPT}${more}`);
  const left = (leftOut: readonly string[]): string =>
    leftOut.length === 0 ? '' : ` Left out, since their names cannot be in a .env file: ${leftOut.join(', ')}.`;
  const json = (data: Readonly<Record<string, Json>>): string => `${JSON.stringify(data, null, 2)}\n`;
  return (
    <Menu transitionProps={{ duration: 0 }}>
      <Menu.Target>
        <Button size="xs" variant="default">
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown aria-label="Export">
        <Menu.Item disabled={!window.isSecureContext} onClick={() => void withData((data) => copy(json(data)))()}>
          Copy as JSON
        </Menu.Item>
        <Menu.Item
          disabled={!window.isSecureContext}
          onClick={() =>
            void withData((data) => {
              const { text, leftOut } = envOf(leavesOf(data));
              return copy(text, left(leftOut));
            })()
          }
        >
          Copy as .env
        </Menu.Item>
        <Menu.Item onClick={() => void withData((data) => download(`${lastOf(secret)}.json`, json(data)))()}>Download JSON</Menu.Item>
        <Menu.Item
          onClick={() =>
            void withData((data) => {
              const { text, leftOut } = envOf(leavesOf(data));
              return download(`${lastOf(secret)}.env`, text) + left(leftOut);
            })()
          }
        >
          Download .env
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function download(name: string, text: string): string {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
  return `${name} is in your downloads. It holds the values as they are.`;
}
