import { Notifications } from '@mantine/notifications';

export default function NoticesView() {
  return <Notifications position="bottom-right" />;
}
