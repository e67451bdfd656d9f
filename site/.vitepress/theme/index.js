// The default theme, with what our pages need.
import theme from "vitepress/theme";
import "./style.css";

export default theme;
