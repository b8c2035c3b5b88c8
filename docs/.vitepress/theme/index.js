import DefaultTheme from 'vitepress/theme-without-fonts';
import './strongroom.css';

export default DefaultTheme;
