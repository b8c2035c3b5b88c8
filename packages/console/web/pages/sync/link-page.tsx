import { Page } from '../../parts/page.tsx';
export default function LinkPage() {
  return <Page title="Link secrets">soon</Page>;
}
