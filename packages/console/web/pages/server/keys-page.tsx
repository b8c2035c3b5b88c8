import { CommandLines } from '../../parts/command-lines.tsx';
import { useSealStatus } from '../unseal/seal-status.ts';
import { EncryptionKey } from './encryption-key.tsx';
import { NewShares } from './new-shares.tsx';
import { RootToken } from './root-token.tsx';
import { Section } from './section.tsx';
import { ServerFrame } from './server-frame.tsx';
import { ShareBackup } from './share-backup.tsx';

/** The keys of the server and their ceremonies: the key that encrypts, the shares of the keyholders, and a new root token. */
export default function KeysPage() {
  const status = useSealStatus();
  const kind = status?.recovery_seal ? 'recovery' : 'root';
  const target = kind === 'recovery' ? ' -target=recovery' : '';
  return (
    <ServerFrame title="Keys" place="/server/keys">
      <EncryptionKey />
      {status && (
        <>
          <Section title={kind === 'recovery' ? 'New recovery shares' : 'New unseal shares'}>
            <NewShares kind={kind} present={status} />
          </Section>
          <ShareBackup kind={kind} />
        </>
      )}
      <Section title="New root token">
        <RootToken />
      </Section>
      <CommandLines
        lines={[
          {
            with: 'CLI',
            command: `strongroom operator rekey -init${target} -key-shares=5 -key-threshold=3 -verify\nstrongroom operator generate-root -init\nstrongroom operator rotate`,
          },
        ]}
      />
    </ServerFrame>
  );
}
