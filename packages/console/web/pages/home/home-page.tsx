import { useForeign } from '../../api/own-routes.ts';
import { MountsOverview } from './mounts-overview.tsx';
import { Page } from '../../parts/page.tsx';
import { AttentionList } from './attention-list.tsx';
import { Plots } from './plots.tsx';

/** What needs a person, and below it how the server does. */
export default function HomePage() {
  const foreign = useForeign();
  if (foreign) return <MountsOverview />;
  return (
    <Page title="Home">
      <AttentionList />
      <Plots />
    </Page>
  );
}
